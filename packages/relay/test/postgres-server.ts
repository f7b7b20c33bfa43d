// A real PostgreSQL for tests: one server a test process, in a temporary folder, gone when that process is.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { SQL } from 'bun'
import { findPostgres, oldestPostgres } from '../../../scripts/find-postgres.mjs'
import { findFreePort } from './free-port.ts'

export interface PostgresServer {
  /** The server's own database, `postgres`; tests use one of `createDatabase`. */
  url: string
  /** Creates an empty database and answers its URL. */
  createDatabase(): Promise<string>
  /** Ends this use of the server. It shuts down with the last one, and starts again, data kept, with the next. */
  stop(): Promise<void>
  /** Ends the server at once, as a power cut would, but for what the kernel has yet to write: SIGQUIT, no shutdown. */
  crash(): Promise<void>
  /** Starts it after a crash, on the same port; when it runs, shuts it down cleanly first. */
  restart(): Promise<void>
}

/** Starts the server of this process, or shares it when it runs. Each call is to be answered by one `stop`. */
export async function startPostgres(): Promise<PostgresServer> {
  const cluster = await inTurn(async () => {
    shared ??= await createCluster()
    if (users === 0) await shared.start()
    users++
    return shared
  })
  let isStopped = false
  return {
    url: cluster.url('postgres'),
    createDatabase: () => cluster.createDatabase(),
    stop: () =>
      inTurn(async () => {
        if (isStopped) return
        isStopped = true
        users--
        if (users === 0) await cluster.shutDown()
      }),
    crash: () => inTurn(() => cluster.crash()),
    restart: () =>
      inTurn(async () => {
        await cluster.shutDown()
        await cluster.start()
      }),
  }
}

let shared: Cluster | undefined
let users = 0
let turn: Promise<unknown> = Promise.resolve()

// Test files may start and stop at the same moment; one change of the server's state at a time.
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = turn.then(work)
  turn = result.catch(() => undefined)
  return result
}

type Cluster = Awaited<ReturnType<typeof createCluster>>

// Making the data folder takes most of a second: done once a process. `--no-sync` only leaves out the sync of this
// first, empty state; the server itself runs with fsync on, as in production.
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
      // The same port after a restart, so that a client of before finds the server again.
      if (port === 0) port = await findFreePort()
      await keeper.tell('start', [
        ...asServer,
        join(bin ?? '', 'postgres'),
        ...['-D', data, '-p', String(port), '-k', folder],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=100', '-c', 'timezone=UTC'],
      ])
      if (await isReady()) return
      const log = readFileSync(join(folder, 'log'), 'utf8').slice(-2000)
      // Someone else may have taken the port between our look and its start.
      if (triesLeft === 0 || !log.includes('already in use'))
        throw new Error(`PostgreSQL did not start:\n${log}`)
      port = 0
    }
  }

  // The server writes its state into the last line of its pid file, which is where pg_ctl looks, too.
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
    shutDown: () => keeper.tell('stop', ['INT']),
    crash: () => keeper.tell('stop', ['QUIT']),
    async createDatabase() {
      databases++
      const name = `test_${databases}`
      await using sql = new SQL(url('postgres'), { max: 1 })
      await sql.unsafe(`CREATE DATABASE ${name}`)
      return url(name)
    },
  }
}

// PostgreSQL refuses to run as root. Answers the words to put before its commands.
function giveToServerAccount(folder: string): string[] {
  if (process.getuid?.() !== 0) return []
  const account = ['postgres', 'nobody'].find((name) => spawnSync('id', ['-u', name]).status === 0)
  if (account === undefined) throw new Error('As root, PostgreSQL needs the account `postgres` or `nobody`.')
  const group = run(['id', '-g', account]).trim()
  run(['chown', `${account}:${group}`, folder])
  chmodSync(folder, 0o700)
  return ['setpriv', '--reuid', account, '--regid', group, '--clear-groups', '--']
}

// A shell between this process and the server, and its parent: it learns of our end, however we end, because its
// standard input closes. Then it ends the server and removes the folder. Being the parent, it knows the server by a
// process id that cannot have passed to another program. It reads one word a line, and a command until an empty line.
// It ignores SIGTERM, which Bun sends to the children of a test that takes too long. A signal is sent until it works:
// one that comes before the server has set its handlers is lost.
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
  // In a session of its own, so that Ctrl-C ends the tests first and the server after them.
  const shell = spawn('sh', ['-c', keeperScript, 'keeper', folder], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  letEnd(shell)
  const answers = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()

  async function ask(verb: string, words: string[]) {
    shell.stdin.write(`${[verb, ...words].join('\n')}\n\n`)
    const answer = await answers.next()
    if (answer.done) throw new Error('The shell that keeps PostgreSQL ended before its time.')
    return answer.value
  }
  return {
    async tell(verb: 'start' | 'stop', words: string[]): Promise<void> {
      await ask(verb, words)
    },
    async isServerAlive(): Promise<boolean> {
      return (await ask('alive', [])) === 'yes'
    },
  }
}

// A server left running must not keep the test process from ending.
function letEnd(shell: ChildProcess) {
  shell.unref()
  for (const stream of [shell.stdin, shell.stdout]) {
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
  }
}

function run([command = '', ...args]: string[]): string {
  // Away from the current folder, which the server's account may not enter.
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
