// The kinds of files that Vite turns into modules.
declare module '*.css'

/** The address of a worker's script. */
declare module '*?worker&url' {
  const url: string
  export default url
}
