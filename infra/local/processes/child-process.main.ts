/**
 * This module is loaded before the entry of every process that the supervisor starts. A Ctrl-C reaches the
 * whole process group, so this process ignores it: the supervisor sends SIGTERM. When the supervisor ends,
 * even by SIGKILL, the channel closes and this process exits.
 */
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(1));
// The channel alone does not keep the process alive.
process.channel?.unref();
