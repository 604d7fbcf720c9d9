-- Run once by the PostgreSQL image, as its superuser, when the data folder is empty: cfplan's own role and database.
-- The role can do nothing but use this database. Its password comes from the secret that cfplan reads too.
\set ON_ERROR_STOP on
\set password `cat "$CFPLAN_PASSWORD_FILE"`
CREATE ROLE cfplan LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
CREATE DATABASE cfplan OWNER cfplan;
REVOKE ALL ON DATABASE cfplan FROM PUBLIC;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
