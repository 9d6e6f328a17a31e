// SPDX-License-Identifier: Apache-2.0
// The Rust program: a generic function, a trait object, a closure, and a panic path.
trait Kernel {
    fn run(&self, x: &[f64]) -> f64;
}

struct Norm;

impl Kernel for Norm {
    #[inline(never)]
    fn run(&self, x: &[f64]) -> f64 { // line:run
        x.iter().map(|v| v * v).sum::<f64>().sqrt()
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy>(x: &[T]) -> T { // line:largest
    let mut best = x[0];
    for &v in x {
        if v > best {
            best = v;
        }
    }
    best
}

fn main() { // line:main
    let x: Vec<f64> = (0..64).map(|i| f64::from(i) * 0.5).collect();
    let k: Box<dyn Kernel> = Box::new(Norm);
    println!("{} {}", k.run(&x), largest(&x));
}
