"""How an operator gets from view to view: root views, the stack of open views, and the links of rows."""
