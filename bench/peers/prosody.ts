// Prosody as a peer: with its message archive in files (the default) and in SQLite.
import type { Peer } from './peer.ts'
import { startPeer } from './server.ts'
import { openXmppLanes, XMPP_MISSING } from './xmpp.ts'

export const prosody: readonly Peer[] = [
  prosodyWith(
    {
      name: 'Prosody, archive in files',
      promise: 'written to the file, not flushed',
      missing: XMPP_MISSING,
    },
    ['storage = "internal"'],
  ),
  prosodyWith(
    { name: 'Prosody, archive in SQLite', promise: 'on disk', missing: XMPP_MISSING },
    ['storage = { archive = "sql" }', 'sql = { driver = "SQLite3", database = "archive.sqlite" }'],
    ['lua-dbi-sqlite3'],
  ),
]

function prosodyWith(
  description: Pick<Peer, 'name' | 'promise' | 'missing'>,
  storage: readonly string[],
  packages: readonly string[] = [],
): Peer {
  return {
    ...description,
    packages: ['prosody', ...packages],
    start: async () => {
      const server = await startPeer({
        user: 'prosody',
        files: ({ folder, port }) => ({ 'prosody.cfg.lua': configOf(folder, port, storage) }),
        command: ({ folder }) => ['prosody', '-F', '--config', `${folder}/prosody.cfg.lua`],
      })
      return {
        pid: server.pid,
        openLanes: (count, payloadBytes) => openXmppLanes(server.port, count, payloadBytes),
        stop: server.stop,
      }
    },
  }
}

function configOf(folder: string, port: number, storage: readonly string[]): string {
  return [
    `data_path = "${folder}"`,
    'interfaces = { "127.0.0.1" }',
    `c2s_ports = { ${port} }`,
    'c2s_direct_tls_ports = {}',
    'modules_enabled = { "roster", "saslauth", "register_ibr", "smacks", "mam" }',
    'modules_disabled = { "s2s", "tls" }',
    'authentication = "internal_plain"',
    'allow_registration = true',
    'c2s_require_encryption = false',
    'allow_unencrypted_plain_auth = true',
    'default_archive_policy = true',
    'archive_expires_after = "never"',
    // The default garbage collector takes about twice the CPU time here.
    'gc = { mode = "generational" }',
    'log = { warn = "*console" }',
    ...storage,
    'VirtualHost "localhost"',
    '',
  ].join('\n')
}
