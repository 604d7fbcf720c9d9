"""Read-only tools for assistants, which `cfplan mcp` offers over the Model Context Protocol."""
