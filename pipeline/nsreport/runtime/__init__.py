"""What a run needs: the Spark session, Java, flags, progress."""
