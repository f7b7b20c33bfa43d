// The public file of key packages, by which a device joins a conversation while it is not connected: their
// endpoints, and what erases them.
export { eraseKeyPackages, forgetKeyPackages, sweepKeyPackages } from './erase.ts'
export { keyPackageRoutes } from './routes.ts'
