// `npm run bench -- login`: complete logins, and reconnections with and without a backlog. The floor of each
// is the same runtime that answers the same requests.
import type { Bench } from './bench.ts'
import { type Contender, measureAlternately, rowsAgainstFloor } from './contest.ts'
import { logins, reconnections, reconnectionsWithBacklog, WAITING } from './load/logins.ts'
import { type MeasuredServer, startLoginFloor, startMeasuredRelay } from './server-process.ts'

const ROUNDS = 5

type Work = (name: string, server: MeasuredServer) => Promise<Contender>

export const login: Bench = {
  means: 'complete logins, and reconnections with and without a backlog, against the floor',
  run: async ({ seconds }) => {
    const rows = [
      ...(await measure('complete login', seconds, logins, logins)),
      ...(await measure('reconnection', seconds, reconnections, reconnections)),
      ...(await measure(
        `reconnection, ${WAITING} messages waiting`,
        seconds,
        reconnectionsWithBacklog,
        reconnections,
        WAITING,
      )),
    ]
    return { settings: { rounds: ROUNDS, seconds }, rows }
  },
}

async function measure(what: string, seconds: number, onRelay: Work, onFloor: Work, waiting = 0) {
  const contenders = [
    await onRelay('relay', await startMeasuredRelay()),
    await onFloor('floor', await startLoginFloor(waiting)),
  ]
  const results = await measureAlternately(contenders, { rounds: ROUNDS, seconds })
  for (const contender of contenders) await contender.close()
  return rowsAgainstFloor(results, { unit: 'login', units: 'logins' }).map((row) => ({ what, ...row }))
}
