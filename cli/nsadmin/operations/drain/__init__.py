"""The drain: writes to a broker are stopped, kept stopped and, later, allowed again just as they were."""
