// Lists the packages of others that are in the app, with their licences, in a file of the app.
import type { Plugin } from 'vite'
import { licenceOf, packageFolder } from '../package-licences.ts'

/** The name of the list in the app. `session/about.ts` reads it. */
const LICENCES = 'licences.json'

/** Makes the plugins that collect the packages of the app and of its workers. */
export function licences(): { readonly ofPage: Plugin; readonly ofWorker: Plugin } {
  const folders = new Set<string>()
  const collect: Plugin['generateBundle'] = (_options, bundle) => {
    for (const file of Object.values(bundle))
      for (const id of file.type === 'chunk' ? file.moduleIds : []) {
        const folder = packageFolder(id)
        if (folder !== undefined) folders.add(folder)
      }
  }
  return {
    // Vite builds the workers before it writes the page.
    ofWorker: { name: 'licences of workers', generateBundle: collect },
    ofPage: {
      name: 'licences',
      async generateBundle(options, bundle, isWrite) {
        collect.call(this, options, bundle, isWrite)
        const list = await Promise.all([...folders].sort().map(licenceOf))
        // A folder may be inside that of the package that depends on it.
        list.sort((one, other) => (one.name < other.name ? -1 : 1))
        this.emitFile({ type: 'asset', fileName: LICENCES, source: `${JSON.stringify(list)}\n` })
      },
    },
  }
}
