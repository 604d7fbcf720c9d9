"""What runs today: a current policy read without loss, merged, checked, and compared with a plan."""
