"""SMF dumps: framing, wire types, layouts as data, one decoder, and the encoder that makes dumps of its own."""
