/**
 * Loaded before the entry of every process that the supervisor starts. The supervisor requests the end (SIGTERM), so a
 * Ctrl-C that reaches the whole group is left to it; when it is gone, even by SIGKILL, the channel closes and we go too.
 */
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(1));
// Listening to the channel is no reason to stay alive.
process.channel?.unref();
