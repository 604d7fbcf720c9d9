"""SMF dumps: framing, wire types, layouts as data, one decoder, and an encoder for test and simulated dumps."""
