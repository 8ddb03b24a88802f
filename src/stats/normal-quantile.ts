import { OptionError } from '../core/errors.ts'

// Wichura's coefficients as the nearest doubles, highest power first.
const CENTRE_NUMERATOR = [
  2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946,
  1971.5909503065513, 133.14166789178438, 3.3871328727963665,
]
const CENTRE_DENOMINATOR = [
  5226.495278852546, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751,
  687.1870074920579, 42.31333070160091, 1,
]
const MIDDLE_NUMERATOR = [
  0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
  3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
]
const MIDDLE_DENOMINATOR = [
  1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
  0.6897673349851, 1.6763848301838038, 2.053191626637759, 1,
]
const FAR_NUMERATOR = [
  2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124,
  0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
]
const FAR_DENOMINATOR = [
  2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133,
  0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1,
]

/**
 * The value below which a standard normal lies with probability `p`, to about 1e-15 of its value.
 *
 * −∞ for 0, ∞ for 1. The upper tail beyond z is the lower one below −z: ask for −normalQuantile(p)
 * rather than normalQuantile(1 − p), which loses digits when p is small.
 *
 * Source: Wichura 1988, "Algorithm AS 241: the percentage points of the normal distribution", Applied
 * Statistics 37(3):477-484 (PPND16).
 *
 * @throws OptionError for a p outside 0 to 1.
 *
 * @example
 * normalQuantile(0.975).toFixed(6) // '1.959964'
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new OptionError('p', p, 'a probability from 0 to 1')
  const distance = p - 0.5
  if (Math.abs(distance) <= 0.425) {
    const r = 0.180625 - distance * distance
    return (distance * polynomial(CENTRE_NUMERATOR, r)) / polynomial(CENTRE_DENOMINATOR, r)
  }
  const tail = Math.sqrt(-Math.log(Math.min(p, 1 - p)))
  const z = tail === Number.POSITIVE_INFINITY ? tail : tailQuantile(tail)
  return distance < 0 ? -z : z
}

function tailQuantile(tail: number): number {
  return tail <= 5
    ? polynomial(MIDDLE_NUMERATOR, tail - 1.6) / polynomial(MIDDLE_DENOMINATOR, tail - 1.6)
    : polynomial(FAR_NUMERATOR, tail - 5) / polynomial(FAR_DENOMINATOR, tail - 5)
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}
