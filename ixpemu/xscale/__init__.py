"""The control processor, in Python: it loads microengines, sets up memory and rings, keeps tables, and answers exceptions."""
