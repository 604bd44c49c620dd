import { adminUrl, connectAsAdmin } from './postgres.ts';

/** The role that the service and the commands connect as: it owns the database and has no other right on the server. */
export const serviceRole = 'scanlog_service';

const database = 'scanlog';

type AdminSql = ReturnType<typeof connectAsAdmin>;

export interface DatabaseAddresses {
  databaseUrl: string;
  /** For the superuser. */
  adminDatabaseUrl: string;
}

/**
 * Creates the role and the database of the service if they are missing. In a data folder of an earlier version the
 * superuser owns the database: it and everything in it get the role as their owner.
 */
export async function prepareDatabase(
  port: number,
  { postgres, postgresService }: { postgres: string; postgresService: string },
): Promise<DatabaseAddresses> {
  const server = connectAsAdmin(port, postgres);
  try {
    await prepareRole(server, postgresService);
    await server.unsafe(
      (await server`SELECT 1 FROM pg_database WHERE datname = ${database}`).length === 0
        ? `CREATE DATABASE ${database} OWNER ${serviceRole}`
        : `ALTER DATABASE ${database} OWNER TO ${serviceRole}`,
    );
    await closeOtherDatabases(server);
  } finally {
    await server.end();
  }
  const sql = connectAsAdmin(port, postgres, { database });
  try {
    await takeOverObjects(sql);
  } finally {
    await sql.end();
  }
  const adminDatabaseUrl = adminUrl(port, postgres, database);
  const url = new URL(adminDatabaseUrl);
  url.username = serviceRole;
  url.password = postgresService;
  return { databaseUrl: url.href, adminDatabaseUrl };
}

/** Creates the role if it is missing, removes rights that were granted by hand, and sets the password of `secrets.json`. */
async function prepareRole(sql: AdminSql, password: string): Promise<void> {
  const [role] = await sql`SELECT 1 FROM pg_roles WHERE rolname = ${serviceRole}`;
  if (role === undefined) await sql.unsafe(`CREATE ROLE ${serviceRole}`);
  const [{ statement }] = await sql<[{ statement: string }]>`
    SELECT format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
      ${serviceRole}::text, ${password}::text) AS statement`;
  await sql.unsafe(statement);
}

/** Stops the role from connecting to other databases, which every role may do by default. */
async function closeOtherDatabases(sql: AdminSql): Promise<void> {
  const statements = await sql<{ statement: string }[]>`
    SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', datname) AS statement FROM pg_database
    WHERE has_database_privilege(${serviceRole}, oid, 'CONNECT') AND datname <> ${database}`;
  for (const { statement } of statements) await sql.unsafe(statement);
}

/**
 * `REASSIGN OWNED` does not work for the superuser that initdb created, because it also owns system objects. The indexes of
 * a table and the sequences of its columns change their owner with it.
 */
async function takeOverObjects(sql: AdminSql): Promise<void> {
  const statements = await sql<{ statement: string }[]>`
    WITH role AS (SELECT ${serviceRole}::regrole::oid AS oid),
    schemas AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
    objects AS (
      SELECT 1 AS rank, 'pg_namespace'::regclass AS catalog, oid, nspowner AS owner, format('SCHEMA %I', nspname) AS name
      FROM schemas WHERE nspname <> 'public'
      UNION ALL
      SELECT 2, 'pg_class'::regclass, oid, relowner, format('TABLE %s', oid::regclass)
      FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relnamespace IN (SELECT oid FROM schemas)
      UNION ALL
      SELECT 3, 'pg_proc'::regclass, oid, proowner, format('ROUTINE %s', oid::regprocedure)
      FROM pg_proc WHERE pronamespace IN (SELECT oid FROM schemas)
      UNION ALL
      SELECT 4, 'pg_type'::regclass, oid, typowner, format('TYPE %s', oid::regtype)
      FROM pg_type t WHERE typnamespace IN (SELECT oid FROM schemas) AND (typtype IN ('e', 'd', 'r')
        OR typtype = 'c' AND (SELECT relkind FROM pg_class WHERE pg_class.oid = t.typrelid) = 'c')
    )
    SELECT format('ALTER %s OWNER TO %I', name, ${serviceRole}::text) AS statement
    FROM objects o WHERE owner <> (SELECT oid FROM role) AND NOT EXISTS (
      -- Skips objects of extensions and sequences of columns.
      SELECT 1 FROM pg_depend d WHERE d.classid = o.catalog AND d.objid = o.oid
        AND (d.deptype = 'e' OR d.deptype IN ('a', 'i') AND d.refclassid = 'pg_class'::regclass AND EXISTS (
          SELECT 1 FROM pg_class WHERE pg_class.oid = o.oid AND relkind = 'S')))
    ORDER BY rank, o.oid`;
  if (statements.length > 0) await sql.begin((tx) => statements.map(({ statement }) => tx.unsafe(statement)));
}
