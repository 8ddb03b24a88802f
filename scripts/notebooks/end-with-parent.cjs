// Loaded into a kernel: when the program that runs the notebook is gone, however it ended, its end
// of our standard input closes, and the kernel ends too.
process.stdin.once('end', () => process.exit())
process.stdin.once('error', () => process.exit())
process.stdin.resume()
process.stdin.unref?.()
