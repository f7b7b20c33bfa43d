// Checks push: the contact address, what push services answered lately, and the key for Firebase.
import { SettingError } from '../operations/setting-error.ts'
import { Fcm } from '../push/fcm.ts'
import { type Finding, findingsOf } from './finding.ts'
import type { Patient } from './patient.ts'

export async function checkPush(patient: Patient): Promise<readonly Finding[]> {
  return [await checkWebPush(patient), ...(await checkFirebase(patient))]
}

async function checkWebPush({ config, storage }: Patient): Promise<Finding> {
  const { ok, warning } = findingsOf('push')
  if (config.push.subject === undefined)
    return warning(
      'push services are told no contact, and some refuse that',
      'set PUSH_SUBJECT, or PUBLIC_URL with https',
    )
  const hosts = storage
    ? await storage.sql<{ host: string; all_of: number; failing: number }>`
        SELECT host, COUNT(*) AS all_of, COUNT(failing_since) AS failing FROM push_subscriptions GROUP BY host`
    : []
  const total = hosts.reduce((sum, { all_of }) => sum + all_of, 0)
  const bad = hosts.filter(({ all_of, failing }) => failing * 2 > all_of)
  if (bad.length === 0) return ok(`${total} subscriptions`)
  const names = bad.map(({ host, all_of, failing }) => `${host} (${failing} of ${all_of})`).join(', ')
  return warning(
    `pushes fail at ${names}`,
    'look for push_refused and push_failing in the log; port 443 of these hosts must be reachable',
  )
}

async function checkFirebase({ config, clock }: Patient): Promise<readonly Finding[]> {
  const { ok, failed } = findingsOf('push')
  if (!config.push.fcm) return []
  try {
    const trouble = await new Fcm(config.push.fcm, { limits: config.limits, clock }).findTrouble()
    if (trouble === undefined) return [ok('Firebase accepts the key of FCM_SERVICE_ACCOUNT')]
    return [
      failed(
        `Firebase gives no access (${trouble})`,
        'check the clock, the network, and whether the key of FCM_SERVICE_ACCOUNT still exists',
      ),
    ]
  } catch (error) {
    if (!(error instanceof SettingError)) throw error
    return [failed(error.message, 'correct the file')]
  }
}
