"""The views: columns, rows and drawings made from the model. They are pure and do not import Textual."""
