import fc from 'fast-check'

/** Properties are tried on the same inputs in each run; FLOWDELTA_SEED=N tries others. */
fc.configureGlobal({ seed: Number(process.env['FLOWDELTA_SEED'] ?? 1) })
