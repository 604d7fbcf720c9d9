"""What if: structures placed, coupling facilities lost, levels raised, structures filling up. A plan in, an answer out."""
