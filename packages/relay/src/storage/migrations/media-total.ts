// Keeps the sum of all media's bytes, so that an upload need not add up all rows.
import type { Migration } from './migration.ts'

// Triggers count, because many statements change the bytes of a blob. On PostgreSQL they run at the end of a
// transaction: the row of the sum is locked last and only for the commit, so that uploads neither wait for
// each other nor wait in a circle.
const TABLES = ['media_blobs', 'media_doomed']

export const mediaTotal: Migration = (dialect) => [
  `CREATE TABLE media_total (bytes BIGINT NOT NULL)`,
  `INSERT INTO media_total (bytes) SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT)
    FROM (SELECT bytes FROM media_blobs UNION ALL SELECT bytes FROM media_doomed) AS held`,
  ...(dialect === 'sqlite' ? TABLES.flatMap(sqliteTriggers) : postgresTriggers()),
]

function sqliteTriggers(table: string): string[] {
  const trigger = (name: string, event: string, change: string): string =>
    `CREATE TRIGGER ${table}_${name} AFTER ${event} ON ${table} BEGIN
      UPDATE media_total SET bytes = bytes + ${change};
    END`
  return [
    trigger('added', 'INSERT', 'NEW.bytes'),
    trigger('changed', 'UPDATE OF bytes', 'NEW.bytes - OLD.bytes'),
    trigger('removed', 'DELETE', '(-OLD.bytes)'),
  ]
}

function postgresTriggers(): string[] {
  return [
    `CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE change BIGINT := 0;
      BEGIN
        IF TG_OP <> 'DELETE' THEN change := change + NEW.bytes; END IF;
        IF TG_OP <> 'INSERT' THEN change := change - OLD.bytes; END IF;
        IF change <> 0 THEN UPDATE media_total SET bytes = bytes + change; END IF;
        RETURN NULL;
      END $$`,
    ...TABLES.map(
      (table) =>
        `CREATE CONSTRAINT TRIGGER ${table}_counted AFTER INSERT OR UPDATE OF bytes OR DELETE ON ${table}
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_media()`,
    ),
  ]
}
