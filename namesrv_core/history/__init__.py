"""Events written down as records, and tables rebuilt from records. Pure; sees nothing but events."""
