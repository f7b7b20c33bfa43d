// A real PostgreSQL with a data folder of its own, which a test can crash, freeze and copy. It uses a
// temporary folder and ends with the process.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { SQL } from 'bun'
import { findPostgres, oldestPostgres } from '../../../scripts/find-postgres.mjs'
import { findFreePort } from './free-port.ts'
import { letEnd } from './let-end.ts'

/** The name by which a primary knows its replica, for `synchronous_standby_names`. */
export const REPLICA = 'replica'

/** One server: its data folder and its processes. */
export interface PostgresCluster {
  /** Its port on the loopback, once it has started; the same after each start. */
  readonly port: number
  /** The URL of one of its databases. */
  url(database: string): string
  /** Creates a database, empty or a copy of the one at `template`. @returns its URL */
  createDatabase(template?: string): Promise<string>
  start(): Promise<void>
  /** Shuts it down in order. */
  shutDown(): Promise<void>
  /** Ends it at once with SIGQUIT. */
  crash(): Promise<void>
  /** Ends all its processes at once with SIGKILL. */
  kill(): Promise<void>
  /** Stops all its processes where they are, until {@link thaw}. Its connections stay open. */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

// Making the data folder takes most of a second, so this is done once per process. `--no-sync` skips only the
// sync of this first, empty state; the server itself runs with fsync on, as in production.
/**
 * Makes a server, which has to be started.
 * @param primary the running server that it is a copy of, and whose changes it follows as a replica
 */
export async function createCluster(primary?: PostgresCluster): Promise<PostgresCluster> {
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
  if (primary) {
    const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${REPLICA}`
    await runBeside([
      ...asServer,
      // Some machines have links to a few of the programs on the PATH.
      join(dirname(realpathSync(join(bin, 'postgres'))), 'pg_basebackup'),
      ...['--pgdata', data, '--dbname', from, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'],
    ])
  } else {
    run([
      ...asServer,
      join(bin, 'initdb'),
      ...['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8'],
      ...['--locale', 'C', '--no-sync', '--no-instructions'],
    ])
  }
  let port = 0
  let databases = 0

  async function start() {
    for (let triesLeft = 5; ; triesLeft--) {
      // The same port after a restart, so that earlier clients find the server again.
      if (port === 0) port = await findFreePort()
      const before = readOrEmpty(join(folder, 'log')).length
      await keeper.run('start', [
        ...asServer,
        join(bin ?? '', 'postgres'),
        ...['-D', data, '-p', String(port), '-k', folder],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=100', '-c', 'timezone=UTC'],
      ])
      if (await isReady()) return
      const log = readFileSync(join(folder, 'log'), 'utf8').slice(before)
      // Another process may have taken the port since findFreePort() checked it. A killed server's memory is
      // in use until the last of its processes has ended.
      const isPortTaken = log.includes('Address already in use')
      if (triesLeft === 0 || !(isPortTaken || log.includes('is still in use')))
        throw new Error(`PostgreSQL did not start:\n${log}`)
      if (isPortTaken) port = 0
      else await Bun.sleep(100)
    }
  }

  // The server writes its state into the last line of its pid file. pg_ctl reads it there too.
  async function isReady() {
    for (;;) {
      const alive = await keeper.serverProcess()
      if (alive === undefined) return false
      // A killed server has left its file.
      const lines = readOrEmpty(join(data, 'postmaster.pid')).split('\n')
      if (lines[0] === alive && lines[7]?.trim() === 'ready') return true
      await Bun.sleep(10)
    }
  }

  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`

  return {
    get port() {
      return port
    },
    url,
    start,
    shutDown: () => keeper.run('stop', ['INT']),
    crash: () => keeper.run('stop', ['QUIT']),
    kill: () => keeper.run('stop', ['KILL']),
    freeze: () => keeper.run('signal', ['STOP']),
    thaw: () => keeper.run('signal', ['CONT']),
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
each() {
  [ -n "$server" ] || return 0
  # A stopped server starts no more processes. Those of a dead one are not its children any more.
  kill -s STOP "$server" 2>/dev/null
  for process in $(cat "/proc/$server/task/$server/children" 2>/dev/null); do kill -s "$1" "$process" 2>/dev/null; done
  kill -s "$1" "$server" 2>/dev/null
}
end() {
  [ -n "$server" ] || return 0
  # What is frozen ends only after it goes on. SIGKILL ends each process, as if the machine had died.
  case $1 in KILL) each KILL ;; *) each CONT ;; esac
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
    signal) each "$1" ;;
    alive) [ -n "$server" ] && kill -0 "$server" 2>/dev/null && echo "$server" || echo no; continue ;;
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
    async run(verb: 'start' | 'stop' | 'signal', words: string[]): Promise<void> {
      await ask(verb, words)
    },
    /** The id of the server's process; undefined if it has ended. */
    async serverProcess(): Promise<string | undefined> {
      const answer = await ask('alive', [])
      return answer === 'no' ? undefined : answer
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

// The same without stopping this process meanwhile, which may be what the server has to talk to.
async function runBeside(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: '/', stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [status, errors] = await Promise.all([child.exited, new Response(child.stderr).text()])
  if (status !== 0) throw new Error(`${command.join(' ')}: ${errors}`)
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
