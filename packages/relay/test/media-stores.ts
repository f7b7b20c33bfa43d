// The places where a relay can store blobs, as relay settings. The same tests run in each place.
import { engines } from './engines.ts'
import { startSwift } from './swift-server.ts'

/** A place where a relay stores blobs. */
export interface MediaPlace {
  readonly name: string
  /** Whether all parts except the last must have at least 5 MiB. */
  readonly requiresLargeParts: boolean
  /** Whether a download of any length states its length. */
  readonly statesLength: boolean
  /** Settings that make a relay use it. */
  environment(): Promise<Record<string, string>>
}

/** Settings that make a relay store its blobs in Swift. */
export async function swiftEnvironment(): Promise<Record<string, string>> {
  const { endpoint, bucket, region, accessKey, secretKey } = await startSwift()
  return {
    MEDIA_S3_ENDPOINT: endpoint,
    MEDIA_S3_BUCKET: bucket,
    MEDIA_S3_REGION: region,
    MEDIA_S3_ACCESS_KEY: accessKey,
    MEDIA_S3_SECRET_KEY: secretKey,
  }
}

/** A folder with each engine, and an S3-compatible store. */
export const mediaPlaces: readonly MediaPlace[] = [
  ...engines.map((engine) => ({
    name: `a folder, on ${engine.name}`,
    requiresLargeParts: false,
    statesLength: true,
    environment: () => engine.environment(),
  })),
  { name: 'Swift', requiresLargeParts: true, statesLength: false, environment: swiftEnvironment },
]
