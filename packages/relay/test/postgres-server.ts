// A real PostgreSQL for tests: one server for each test process, and one for each test that breaks it. They
// use temporary folders and end with the process.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { SQL } from 'bun'
import { findPostgres, oldestPostgres } from '../../../scripts/find-postgres.mjs'
import { findFreePort } from './free-port.ts'
import { letEnd } from './let-end.ts'

export interface PostgresServer {
  /** The URL of the database `postgres`; tests use databases from `createDatabase`. */
  url: string
  /** Creates a database, empty or a copy of the one at `template`. @returns its URL */
  createDatabase(template?: string): Promise<string>
  /**
   * Ends this use of the server. The server shuts down after the last use. The next use starts it again with
   * the same data.
   */
  stop(): Promise<void>
}

/** A server of one test, which the test may break. */
export interface OwnPostgresServer extends PostgresServer {
  /**
   * Ends the server at once with SIGQUIT, without a shutdown. This is like a power cut, except that the
   * kernel still writes its buffers.
   */
  crash(): Promise<void>
  /** Starts it on the same port. If it is running, it is shut down cleanly first. */
  restart(): Promise<void>
}

/**
 * Starts the server of this process, or shares it if it is running. Each call needs one `stop`.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const cluster = await oneAtATime(async () => {
    shared ??= await createCluster()
    if (users === 0) await shared.start()
    users++
    return shared
  })
  let isStopped = false
  return {
    url: cluster.url('postgres'),
    createDatabase: (template) => cluster.createDatabase(template),
    stop: () =>
      oneAtATime(async () => {
        if (isStopped) return
        isStopped = true
        users--
        if (users === 0) await cluster.shutDown()
      }),
  }
}

/**
 * Starts a server for one test. It recovers from a crash faster, because it has no databases of other tests.
 */
export async function startOwnPostgres(): Promise<OwnPostgresServer> {
  const cluster = await createCluster()
  await cluster.start()
  return {
    url: cluster.url('postgres'),
    createDatabase: cluster.createDatabase,
    stop: cluster.shutDown,
    crash: cluster.crash,
    restart: async () => {
      await cluster.shutDown()
      await cluster.start()
    },
  }
}

let shared: Cluster | undefined
let users = 0
let queue: Promise<unknown> = Promise.resolve()

// Test files may start and stop the server at the same moment, so its state changes one at a time.
function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = queue.then(work)
  queue = result.catch(() => undefined)
  return result
}

type Cluster = Awaited<ReturnType<typeof createCluster>>

// Making the data folder takes most of a second, so this is done once per process. `--no-sync` skips only the
// sync of this first, empty state; the server itself runs with fsync on, as in production.
async function createCluster() {
  const bin = findPostgres()
  if (bin === undefined) {
    throw new Error(
      `PostgreSQL ${oldestPostgres} or later is needed: its server's programs are neither in PG_BIN, on the PATH nor in ` +
        '/usr/lib/postgresql/*/bin. On Debian: apt-get install postgresql. `npm test` says more.',
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'sotto-postgres-'))
  const asServer = giveToServerAccount(folder)
  const keeper = startKeeper(folder)
  const data = join(folder, 'data')
  run([
    ...asServer,
    join(bin, 'initdb'),
    ...['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8'],
    ...['--locale', 'C', '--no-sync', '--no-instructions'],
  ])
  let port = 0
  let databases = 0

  async function start() {
    for (let triesLeft = 5; ; triesLeft--) {
      // The same port after a restart, so that earlier clients find the server again.
      if (port === 0) port = await findFreePort()
      await keeper.run('start', [
        ...asServer,
        join(bin ?? '', 'postgres'),
        ...['-D', data, '-p', String(port), '-k', folder],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=100', '-c', 'timezone=UTC'],
      ])
      if (await isReady()) return
      const log = readFileSync(join(folder, 'log'), 'utf8').slice(-2000)
      // Another process may have taken the port since findFreePort() checked it.
      if (triesLeft === 0 || !log.includes('already in use'))
        throw new Error(`PostgreSQL did not start:\n${log}`)
      port = 0
    }
  }

  // The server writes its state into the last line of its pid file. pg_ctl reads it there too.
  async function isReady() {
    while (await keeper.isServerAlive()) {
      if (readOrEmpty(join(data, 'postmaster.pid')).split('\n')[7]?.trim() === 'ready') return true
      await Bun.sleep(10)
    }
    return false
  }

  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`

  return {
    url,
    start,
    shutDown: () => keeper.run('stop', ['INT']),
    crash: () => keeper.run('stop', ['QUIT']),
    async createDatabase(template?: string) {
      databases++
      const name = `test_${databases}`
      const copied = template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`
      await using sql = new SQL(url('postgres'), { max: 1 })
      await sql.unsafe(`CREATE DATABASE ${name}${copied}`)
      return url(name)
    },
  }
}

// PostgreSQL refuses to run as root. Returns the words to put before its commands.
function giveToServerAccount(folder: string): string[] {
  if (process.getuid?.() !== 0) return []
  const account = ['postgres', 'nobody'].find((name) => spawnSync('id', ['-u', name]).status === 0)
  if (account === undefined) throw new Error('As root, PostgreSQL needs the account `postgres` or `nobody`.')
  const group = run(['id', '-g', account]).trim()
  run(['chown', `${account}:${group}`, folder])
  chmodSync(folder, 0o700)
  return ['setpriv', '--reuid', account, '--regid', group, '--clear-groups', '--']
}

// A shell that is the server's parent and keeps it. When this process ends in any way, the shell's standard
// input closes; the shell then ends the server and removes the folder. As the parent it holds the server's
// process id, so no other program can have that id. It reads one word per line; an empty line ends a command.
// It ignores SIGTERM, which Bun sends to the children of a test that takes too long. It repeats a signal
// until it works, because a signal that arrives before the server has set its handlers is lost.
const keeperScript = `
folder=$1 server=
trap '' HUP INT TERM
end() {
  [ -n "$server" ] || return 0
  while kill -s "$1" "$server" 2>/dev/null; do sleep 0.2; done &
  wait "$server" 2>/dev/null
  server=
}
while read -r verb; do
  set --
  while IFS= read -r word && [ -n "$word" ]; do set -- "$@" "$word"; done
  case $verb in
    start) "$@" >>"$folder/log" 2>&1 </dev/null & server=$! ;;
    stop) end "$1" ;;
    alive) [ -n "$server" ] && kill -0 "$server" 2>/dev/null && echo yes || echo no; continue ;;
  esac
  echo done
done
end QUIT
rm -rf "$folder"
`

function startKeeper(folder: string) {
  // In a separate session, so that Ctrl-C ends the tests first and the server after them.
  const shell = spawn('sh', ['-c', keeperScript, 'keeper', folder], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // A server left running must not keep the test process from ending.
  letEnd(shell)
  const answers = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()

  async function ask(verb: string, words: string[]) {
    shell.stdin.write(`${[verb, ...words].join('\n')}\n\n`)
    const answer = await answers.next()
    if (answer.done) throw new Error('The shell that keeps PostgreSQL ended too early.')
    return answer.value
  }
  return {
    async run(verb: 'start' | 'stop', words: string[]): Promise<void> {
      await ask(verb, words)
    },
    async isServerAlive(): Promise<boolean> {
      return (await ask('alive', [])) === 'yes'
    },
  }
}

function run([command = '', ...args]: string[]): string {
  // Not in the current folder, because the server's account may not be allowed to enter it.
  const result = spawnSync(command, args, { encoding: 'utf8', cwd: '/' })
  if (result.status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')}: ${result.error?.message ?? ''}${result.stdout}${result.stderr}`,
    )
  }
  return result.stdout
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
