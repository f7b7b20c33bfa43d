// The checks of `npm run check` and `npm test`: types, lint and formatting, import boundaries, comments,
// unused code.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bunPath, root } from './installation.mjs'

const node = process.execPath
const inModules = (path) => join(root, 'node_modules', path)

// The compiler and knip cache their results for each file. They check again only the files that changed and
// the files that depend on them.
const typesCache = ['--incremental', '--tsBuildInfoFile', inModules('.cache/types.tsbuildinfo')]
// The client's sources against the language of the oldest platforms that the package promises.
const oldest = join(root, 'packages/client/tsconfig.oldest.json')

const checks = (fix) => [
  { name: 'types', command: [node, inModules('typescript/bin/tsc'), '--noEmit', ...typesCache] },
  { name: 'types of the oldest platforms', command: [node, inModules('typescript/bin/tsc'), '-p', oldest] },
  {
    name: 'lint and formatting',
    command: [
      node,
      inModules('@biomejs/biome/bin/biome'),
      'check',
      '--error-on-warnings',
      ...(fix ? ['--write'] : []),
    ],
  },
  { name: 'import boundaries', command: [bunPath, join(root, 'scripts/check-imports.ts')] },
  { name: 'width of comments', command: [bunPath, join(root, 'scripts/check-comments.ts')] },
  { name: 'unused code', command: [node, inModules('knip/bin/knip.js'), '--no-progress', '--cache'] },
]

// Returns the checks that failed, with their output. Each check prints its findings and a summary line.
export async function runChecks({ fix = false } = {}) {
  const results = await Promise.all(checks(fix).map(run))
  for (const { output, passed } of results) if (!passed) process.stdout.write(`${output.trim()}\n\n`)
  for (const { name, passed, seconds } of results) {
    process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`)
  }
  return results.filter(({ passed }) => !passed)
}

function run({ name, command: [file, ...args] }) {
  const startedMs = performance.now()
  // Each output is buffered until the checks before it have printed, but keeps its colours in a terminal.
  const env = process.stdout.isTTY ? { FORCE_COLOR: '1', ...process.env } : process.env
  const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const parts = []
  child.stdout.on('data', (part) => parts.push(part))
  child.stderr.on('data', (part) => parts.push(part))
  return new Promise((resolve) => {
    const end = (passed) => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      resolve({ name, passed, seconds, output: Buffer.concat(parts).toString() })
    }
    child.on('error', (error) => {
      parts.push(Buffer.from(`${file}: ${error.message}\n`))
      end(false)
    })
    child.on('close', (code) => end(code === 0))
  })
}
