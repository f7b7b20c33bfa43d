// `npm start`: installs what is missing and starts the relay with its embedded database.
import { root } from './installation.mjs'
import { runSotto } from './launcher.mjs'

// Runs in the checkout, not in the caller's folder, so that each start finds the same data.
await runSotto(['serve', ...process.argv.slice(2)], root)
