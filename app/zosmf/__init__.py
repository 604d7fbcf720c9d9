"""CFRM policies on z/OSMF: read, compared with a plan, created under a new name, activated on request, watched for drift."""
