"""Completions: what each shell sources. Commands and options are in them; `nsadmin complete` has live values.

All four go the same way. The words before the cursor are told apart into options, their values, the command
and what stands by position; a place whose flag was given is taken. Then what is typed is the value of an
option, an option, a command or the next place, or where there is none an option again.
"""
