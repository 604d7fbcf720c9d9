"""Parts of the web interface that every feature uses."""
