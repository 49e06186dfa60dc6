"""Why a client finds no route of a topic: facts are gathered, and each cause is looked for in them."""
