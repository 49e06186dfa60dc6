"""The server for MCP clients, which are programs that let a language model use tools."""
