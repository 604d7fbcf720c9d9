"""Which packages of others an installation contains: software bill of materials, third-party notices, list of licenses."""
