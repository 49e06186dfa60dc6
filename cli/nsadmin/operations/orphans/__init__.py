"""Topics that have lost what they belong to: found by looking twice, and cleaned where that loses nothing."""
