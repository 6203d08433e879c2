// Runs before everything else, on any Node: plain JavaScript, and nothing newer than Node 12 knows.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: please use Node 22.19 or newer. ` +
      '(On Linux, x64 and arm64, npm ci installs Node 24 as an optional package, which npm start and npx fleet-endpoints use.)',
  );
  process.exit(1);
}
