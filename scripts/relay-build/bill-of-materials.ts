// The bill of materials of the one file, in the format CycloneDX 1.5: what is in it, with hashes and
// licences. The same file has the same bill, so it has no time, and its number is made from the file's hash.
import { ROOT } from '../client-package/entries.ts'
import type { Licence } from '../package-licences.ts'
import { run } from './targets.ts'

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
}

interface Bill {
  readonly serialNumber: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** What a bill is about. */
export interface Described {
  /** The file's name. */
  readonly name: string
  /** The SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
  /** The packages of others that are in it. */
  readonly packages: readonly Licence[]
  /** The npm package with the Bun that runs in it. */
  readonly bunPackage: string
}

/** Makes the bill of a file from npm's bill of the whole project. */
export async function billOfMaterials({ name, sha256, packages, bunPackage }: Described): Promise<object> {
  const whole = await wholeBill()
  const isInside = (each: Component): boolean =>
    each.name === bunPackage ||
    /^(?:sotto$|@sotto\/)/.test(each.name) ||
    packages.some((inside) => inside.name === each.name && inside.version === each.version)
  const components = whole.components.filter(isInside)
  const missing = packages.find((inside) => !components.some((each) => each.name === inside.name))
  if (missing) throw new Error(`npm’s bill of materials lacks ${missing.name}`)
  const own = whole.metadata.component
  const refs = components.map((each) => each['bom-ref'])
  return {
    ...whole,
    serialNumber: `urn:uuid:${sha256.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5')}`,
    metadata: {
      component: {
        'bom-ref': own['bom-ref'],
        type: 'application',
        name,
        version: own.version,
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
    dependencies: [
      { ref: own['bom-ref'], dependsOn: refs },
      ...whole.dependencies
        .filter(({ ref }) => refs.includes(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.includes(each)) })),
    ],
  }
}

async function wholeBill(): Promise<Bill> {
  const words = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
  // `ts-mls` asks for exact versions of peers whose place our cipher suite takes. npm refuses others.
  words.push('--legacy-peer-deps')
  return JSON.parse(await run(['npm', 'sbom', ...words], ROOT))
}
