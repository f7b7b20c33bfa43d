// ejabberd: with its message archive in Mnesia (the default), in SQLite, and without one.
import type { Peer } from './peer.ts'
import { startPeer } from './server.ts'
import { openXmppLanes, XMPP_MISSING } from './xmpp.ts'

const LIBRARIES = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

interface Archive {
  readonly modules: readonly string[]
  readonly options: (folder: string) => readonly string[]
}

export const ejabberd: readonly Peer[] = [
  ejabberdWith(
    { name: 'ejabberd, no archive', promise: 'in memory; nothing is stored', missing: 'storing' },
    { modules: [], options: () => [] },
  ),
  ejabberdWith(
    {
      name: 'ejabberd, archive in Mnesia',
      promise: 'in memory; to the file within seconds, not flushed',
      // A table of type bag searches all of a user's messages.
      missing: `${XMPP_MISSING}; slower the longer it runs`,
    },
    { modules: ['  mod_mam:', '    default: always', '    db_type: mnesia'], options: () => [] },
  ),
  ejabberdWith(
    { name: 'ejabberd, archive in SQLite', promise: 'on disk', missing: XMPP_MISSING },
    {
      modules: ['  mod_mam:', '    default: always', '    db_type: sql'],
      options: (folder) => ['sql_type: sqlite', `sql_database: "${folder}/archive.sqlite"`],
    },
    ['erlang-p1-sqlite3'],
  ),
]

function ejabberdWith(
  description: Pick<Peer, 'name' | 'promise' | 'missing'>,
  archive: Archive,
  packages: readonly string[] = [],
): Peer {
  return {
    ...description,
    packages: ['ejabberd', ...packages],
    start: async () => {
      const server = await startPeer({
        user: 'ejabberd',
        files: ({ folder, port }) => ({ 'ejabberd.yml': configOf(folder, port, archive) }),
        // The same command as ejabberdctl's, but without a node name, so that it opens no port to other nodes
        // and starts no epmd. Schedulers do not spin while they wait, because spinning would count as CPU
        // time.
        command: ({ folder }) => [
          'erl',
          ...['+K', 'true', '+P', '250000', '+sbwt', 'none', '+sbwtdcpu', 'none', '+sbwtdio', 'none'],
          ...['-noinput', '-mnesia', 'dir', `"${folder}/mnesia"`, '-s', 'ejabberd'],
        ],
        env: ({ folder }) => ({
          ERL_LIBS: LIBRARIES,
          EJABBERD_CONFIG_PATH: `${folder}/ejabberd.yml`,
          EJABBERD_LOG_PATH: `${folder}/ejabberd.log`,
          ERL_CRASH_DUMP: '/dev/null',
        }),
      })
      return {
        pid: server.pid,
        openLanes: (count, payloadBytes) => openXmppLanes(server.port, count, payloadBytes),
        stop: server.stop,
      }
    },
  }
}

function configOf(folder: string, port: number, { modules, options }: Archive): string {
  return [
    'hosts:',
    '  - localhost',
    'loglevel: error',
    ...options(folder),
    'registration_timeout: infinity',
    'auth_password_format: plain',
    'listen:',
    '  -',
    `    port: ${port}`,
    '    ip: "127.0.0.1"',
    '    module: ejabberd_c2s',
    '    access: all',
    '    shaper: none',
    '    max_stanza_size: 262144',
    'modules:',
    '  mod_roster: {}',
    '  mod_offline: {}',
    '  mod_register:',
    '    ip_access: all',
    '    access: all',
    '  mod_stream_mgmt: {}',
    ...modules,
    '',
  ].join('\n')
}
