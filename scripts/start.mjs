// `npm start`: installs what is missing, builds the app if it has changed, and starts the relay with its
// embedded database.
import { ensureAppOrExit } from './app-build.mjs'
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { root } from './installation.mjs'
import { runSotto } from './launcher.mjs'

await ensureInstalledOrExit()
// An operator who names another app, or none, needs no build.
if (!process.env.APP_DIR) ensureAppOrExit()

// Runs in the checkout, not in the caller's folder, so that each start finds the same data.
await runSotto(['serve', ...process.argv.slice(2)], root)
