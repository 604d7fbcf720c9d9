"""The published tables on which every figure rests."""
