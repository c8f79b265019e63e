// Plain JavaScript that every Node can read: below 22.19 better-sqlite3 ends the process without a message.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `listing-sync needs Node 22.19 or newer, this is ${process.versions.node}. ` +
      'Run it through npm after "npm ci": the project brings its own Node for Linux and Windows.',
  )
  process.exit(1)
}
