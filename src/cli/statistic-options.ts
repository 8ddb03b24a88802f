import { Option } from 'commander'

/** `--test`, which compare and evaluate share. */
export function testOption(): Option {
  return new Option('--test <name>', 'how two samples of times are compared')
    .choices(['ks', 'anderson-darling', 'mann-whitney', 'permutation', 'p95', 'p99'])
    .default('ks')
}

/** `--centre`, which compare and evaluate share. */
export function centreOption(): Option {
  return new Option('--centre <name>', 'which typical time contributions are measured between')
    .choices(['mean', 'median', 'trimmed'])
    .default('mean')
}
