"""RMF live: CFACT reports of the distributed data server (DDS), polled once a minute for the usage history."""
