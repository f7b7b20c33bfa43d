#!/usr/bin/env node
// `npx sotto`: the command line, run by the Bun that this project pins.
import { runSotto } from '../../../scripts/launcher.mjs'

await runSotto(process.argv.slice(2))
