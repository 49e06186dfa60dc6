"""Man pages, pages of the reference, schemas and type stubs, rendered from the program."""
