// Builds the app into `dist`: plain files that any server can serve, under any path.
import { defineConfig } from 'vite'
import { leanProtocol } from '../../scripts/client-package/lean-protocol.ts'
import { packedWordList } from '../../scripts/client-package/word-list.ts'
import { finishedBuild } from '../../scripts/web-app/finish-build.ts'
import { layerOrder } from '../../scripts/web-app/layer-order.ts'
import { licences } from '../../scripts/web-app/licences.ts'
import { loadPart } from '../../scripts/web-app/load-part.ts'

const { ofPage, ofWorker } = licences()

/**
 * Modules of the library that come with the parts of the app that need them. The library's entry names them,
 * so the bundler takes them for needed at the start.
 */
const LATER = [
  /client[\\/]src[\\/](?:channels|edits|invites|push|reactions|search|shop)[\\/]/,
  /client[\\/]src[\\/]account[\\/]invite\.ts$/,
  /client[\\/]src[\\/]media[\\/](?!media-pass)/,
  /crypto[\\/]src[\\/](?:blob-hash|file-key|media-chunk|padding|sealed-file)\.ts$/,
  /protocol[\\/]src[\\/](?:endpoints[\\/](?:channels|invites|media|push|vanity)|bodies[\\/](?:invites|media|payments|vanity))\.ts$/,
  // Forward secrecy, with what it alone needs.
  /client[\\/]src[\\/](?:forward-secrecy|secrecy[\\/]version-3)[\\/]/,
  /client[\\/]src[\\/]stores[\\/](?:secret-states|keyring|row-slots|slot-bytes)\.ts$/,
  /crypto[\\/]src[\\/](?:account-keys|byte-record|content-members|leaf-certificate|message-binding|ml-kem|noble-ml-kem|outer-aead|secret-content|secret-kinds|version-3)\.ts$/,
  /protocol[\\/]src[\\/](?:endpoints|bodies)[\\/]key-packages\.ts$/,
  /packages[\\/]mls[\\/]|[\\/]ts-mls[\\/]|[\\/]@hpke[\\/]/,
  /[\\/]@noble[\\/]/,
]

/** To add a first contact takes all of these. Together they compress better than one by one. */
const WITH_CONTACTS =
  /web[\\/]src[\\/](?:screens[\\/]contacts[\\/](?:contacts|add-contact|contact-detail|person-card|scanned|befriending|request-row)\.tsx?|texts[\\/](?:en[\\/])?contacts\.ts|session[\\/]invitation\.ts)$/

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [loadPart, packedWordList, leanProtocol, layerOrder, ofPage, finishedBuild],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es', plugins: () => [packedWordList, leanProtocol, ofWorker] },
  build: {
    target: 'es2023',
    // A script that is a `data:` URL would break the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // The first script names all others, and the digits of hashes do not compress: 42 bits are enough.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: {
          groups: [
            {
              name: 'first',
              tags: ['$initial'],
              test: (id) => !LATER.some((later) => later.test(id)),
              includeDependenciesRecursively: false,
            },
            { name: 'contacts', test: WITH_CONTACTS, includeDependenciesRecursively: false },
          ],
        },
      },
      treeshake: {
        // The library and what it uses have no side effects: what the app does not call is left out.
        moduleSideEffects: [
          { test: /[\\/](?:client|crypto|protocol)[\\/]src[\\/]|@noble|@scure|valibot/, sideEffects: false },
        ],
      },
    },
  },
})
