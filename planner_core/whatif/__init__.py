"""What-if questions: placement, lost coupling facilities, upgrades and outages. Each takes a plan and returns an answer."""
