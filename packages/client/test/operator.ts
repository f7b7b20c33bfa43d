// What a relay's operator does to accounts, for tests of what their owners see.
import { tellRelay } from '@sotto/relay'
import type { RelayProcess } from '@sotto/relay/testing'

type Place = Pick<RelayProcess, 'dataDir'>

/** Suspends an account. @param until when it ends; without it, never */
export async function suspendAccount(
  { dataDir }: Place,
  alias: string,
  { why, until }: { readonly why: string; readonly until?: string },
): Promise<void> {
  const deed = { alias_id: alias, who: 'ada', why, ...(until === undefined ? {} : { until }) }
  await tellRelay({ DATA_DIR: dataDir }, 'accounts.suspend', deed)
}

/** The reports that are not done, the newest first, with what was attached. */
export async function openReports({ dataDir }: Place) {
  const reports = await tellRelay({ DATA_DIR: dataDir }, 'reports.list', {})
  return Promise.all(reports.map(({ id }) => tellRelay({ DATA_DIR: dataDir }, 'reports.show', { id })))
}

/** Lifts the suspension of an account. */
export async function liftSuspension({ dataDir }: Place, alias: string): Promise<void> {
  await tellRelay({ DATA_DIR: dataDir }, 'accounts.lift', { alias_id: alias, who: 'ada' })
}
