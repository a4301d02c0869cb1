//! Sends signed webhooks at a fixed rate over connections that stay open, and prints how long the answers took.
//!
//! `yuba-bench-load HOST:PORT SECRET_FILE RATE SECONDS [BODY]`. The load is open: a request's time runs from when it was
//! due, not from when it was sent, so that a server that stalls cannot hide it by being asked less often.
#![expect(clippy::print_stdout, reason = "the program prints its measurements")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// At most so many; each has a thread. A request that is late makes only those of its own connection late.
const CONNECTIONS: u32 = 32;

/// Time for each connection to be made before the first request is due.
const TO_CONNECT: Duration = Duration::from_millis(5);

/// What is asked for.
struct Load {
    address: String,
    request: Vec<u8>,
    rate: u32,
    requests: u32,
}

/// How one request went.
struct Sent {
    took: Duration,
    status: u16,
}

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let load = Load::from_arguments()?;
    let lanes = CONNECTIONS.min(load.requests);
    let began = Instant::now() + TO_CONNECT * lanes;
    let sent = thread::scope(|scope| {
        let load = &load;
        let running: Vec<_> = (0..lanes).map(|lane| scope.spawn(move || load.drive(began, lane))).collect();
        let mut all = Vec::new();
        for thread in running {
            all.extend(thread.join().map_err(|_| "a connection's thread ended early")??);
        }
        Ok::<_, Failed>(all)
    })?;
    report(sent, began.elapsed());
    Ok(())
}

impl Load {
    fn from_arguments() -> Result<Self, Failed> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let (head, body) = match arguments.as_slice() {
            [head @ .., body] if arguments.len() == 5 => (head, body.clone()),
            head => (head, "{}".to_owned()),
        };
        let [address, secret, rate, seconds] = head else {
            return Err("usage: yuba-bench-load HOST:PORT SECRET_FILE RATE SECONDS [BODY]".into());
        };
        let secret = std::fs::read_to_string(secret)?;
        let (rate, seconds): (u32, u32) = (rate.parse()?, seconds.parse()?);
        Ok(Self {
            address: address.clone(),
            request: signed(address, secret.trim_end().as_bytes(), &body)?,
            rate,
            requests: rate * seconds,
        })
    }

    /// Sends every request of one connection when it is due.
    fn drive(&self, began: Instant, lane: u32) -> Result<Vec<Sent>, Failed> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut answers = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        let mut sent = Vec::new();
        for number in (lane..self.requests).step_by(CONNECTIONS as usize) {
            let due = began + Duration::from_secs(1) * number / self.rate;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            stream.write_all(&self.request)?;
            let status = answer(&mut answers)?;
            sent.push(Sent { took: due.elapsed(), status });
        }
        Ok(sent)
    }
}

/// A request with the signature of its body, as `X-Yuba-Signature` has it.
fn signed(host: &str, secret: &[u8], body: &str) -> Result<Vec<u8>, Failed> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret)?;
    mac.update(body.as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    Ok(format!(
        "POST /webhooks/generic HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         X-Yuba-Signature: sha256={signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes())
}

/// Reads one answer to its end; its status.
fn answer(answers: &mut BufReader<TcpStream>) -> Result<u16, Failed> {
    let mut line = String::new();
    answers.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or("the server closed the connection")?.parse()?;
    let mut length = 0;
    loop {
        line.clear();
        answers.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body)?;
    Ok(status)
}

/// One line of `name=value`, times in milliseconds.
fn report(mut sent: Vec<Sent>, elapsed: Duration) {
    sent.sort_unstable_by_key(|sent| sent.took);
    let at = |percent: usize| {
        let place = (sent.len() * percent).div_ceil(100).saturating_sub(1);
        sent.get(place).map_or(0.0, |sent| sent.took.as_secs_f64() * 1000.0)
    };
    let accepted = sent.iter().filter(|sent| sent.status == 202).count();
    println!(
        "requests={} accepted={accepted} seconds={:.1} p50={:.2} p99={:.2} max={:.2}",
        sent.len(),
        elapsed.as_secs_f64(),
        at(50),
        at(99),
        at(100)
    );
}
