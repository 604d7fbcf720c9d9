"""The plan editor: its form, its preview, and the merge of concurrent changes."""
