"""What stands between the operator and a command: settings, session, output, messages, questions, audit."""
